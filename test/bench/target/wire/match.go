//go:build linux

package main

// exchange is a request and its response, each by its last segment, in real time; response 0: none yet.
type exchange struct {
	request, response int64
	port              uint16 // of the client
}

// matcher distinguishes requests and responses by direction: with one in flight per connection, data from the
// client after data from the server starts the next request.
type matcher struct {
	port      uint16
	exchanges []exchange
	current   map[uint16]int // client's port -> index into exchanges
}

func newMatcher(port uint16) *matcher {
	return &matcher{port: port, current: map[uint16]int{}}
}

func (m *matcher) add(p packet) {
	client, isRequest := p.src, p.dst == m.port
	if !isRequest {
		client = p.dst
	}
	if p.syn {
		delete(m.current, client)
		return
	}
	if p.payload > 0 && isRequest {
		m.addRequest(client, p.at)
	} else if p.payload > 0 {
		if i, ok := m.current[client]; ok {
			m.exchanges[i].response = p.at
		}
	}
	if p.end {
		delete(m.current, client)
	}
}

func (m *matcher) addRequest(client uint16, at int64) {
	if i, ok := m.current[client]; ok && m.exchanges[i].response == 0 {
		m.exchanges[i].request = at
		return
	}
	m.current[client] = len(m.exchanges)
	m.exchanges = append(m.exchanges, exchange{request: at, port: client})
}
