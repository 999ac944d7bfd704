module vault-pki-load/test/bench/target

go 1.22
