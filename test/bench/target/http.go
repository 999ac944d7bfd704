//go:build linux

package main

import (
	"bytes"
	"fmt"
)

const contentLength = "content-length:"

// parse returns the path and the length, body included, of the request at the start of in; 0 while it is incomplete.
// Bodies need a Content-Length.
func parse(in []byte) (path []byte, size int) {
	end := bytes.Index(in, []byte("\r\n\r\n"))
	if end < 0 {
		return nil, 0
	}
	head := in[:end]
	size = end + 4 + bodyLength(head)
	if len(in) < size {
		return nil, 0
	}
	_, path, _ = bytes.Cut(head, []byte(" "))
	path, _, _ = bytes.Cut(path, []byte(" "))
	return path, size
}

func bodyLength(head []byte) int {
	for i := range head {
		if head[i] != '\n' || !isContentLength(head[i+1:]) {
			continue
		}
		length := 0
		for _, c := range head[i+1+len(contentLength):] {
			if c == '\r' {
				break
			}
			if c >= '0' && c <= '9' {
				length = length*10 + int(c-'0')
			}
		}
		return length
	}
	return 0
}

func isContentLength(line []byte) bool {
	return len(line) >= len(contentLength) && bytes.EqualFold(line[:len(contentLength)], []byte(contentLength))
}

func httpResponse(status, contentType string, body []byte) []byte {
	head := fmt.Sprintf("HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n", status, contentType, len(body))
	return append([]byte(head), body...)
}
