//go:build linux

// Command handshakes is the HTTPS target of the bench of the same name: it counts TLS handshakes, and responds "ok". It
// writes its certificate to -cert, prints one JSON line {"port": N} when it listens, and exits when its standard input
// closes. GET /_counts returns what it has counted.
package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"flag"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"time"
)

// health is what a Vault's health check expects.
const health = `{"initialized":true,"sealed":false,"standby":false,"version":"1.0.0"}`

func main() {
	file := flag.String("cert", "", "file to write the certificate to, in PEM")
	flag.Parse()
	certificate := selfSigned()
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Certificate[0]})
	check(os.WriteFile(*file, text, 0o600))

	var handshakes, resumed, requests atomic.Uint64
	config := &tls.Config{
		Certificates: []tls.Certificate{certificate},
		NextProtos:   []string{"http/1.1"},
		VerifyConnection: func(state tls.ConnectionState) error {
			handshakes.Add(1)
			if state.DidResume {
				resumed.Add(1)
			}
			return nil
		},
	}
	handler := func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/_counts":
			fmt.Fprintf(w, `{"handshakes":%d,"resumed":%d,"requests":%d}`, handshakes.Load(), resumed.Load(), requests.Load())
		case "/v1/sys/health":
			_, _ = io.WriteString(w, health)
		default:
			requests.Add(1)
			_, _ = io.WriteString(w, "ok")
		}
	}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", config)
	check(err)
	fmt.Printf("{\"port\":%d}\n", listener.Addr().(*net.TCPAddr).Port)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	server := http.Server{Handler: http.HandlerFunc(handler), ErrorLog: log.New(io.Discard, "", 0)}
	check(server.Serve(listener))
}

func selfSigned() tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(err)
	template := x509.Certificate{
		SerialNumber:          big.NewInt(1),
		NotAfter:              time.Now().Add(24 * time.Hour),
		IPAddresses:           []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA:                  true,
		BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, key.Public(), key)
	check(err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "handshakes:", err)
		os.Exit(1)
	}
}
