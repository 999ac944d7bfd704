# nomad var put nomad/jobs/vault-pki-load token="$VAULT_TOKEN" secret="$(openssl rand -hex 32)"
# nomad job run -var vault_addr="$VAULT_ADDR" examples/nomad/vault-pki-load.nomad.hcl

variable "vault_addr" {
  type = string
}
variable "image" {
  default = "vault-pki-load:latest"
}
variable "parts" {
  type    = number
  default = 3
}
variable "load" {
  type    = list(string)
  default = ["ocsp", "--role", "example-dot-com", "--rate", "60", "--duration", "20s", "--require", "errors<1%", "--require", "p50<1s"]
}

job "vault-pki-load" {
  type = "batch"

  group "parts" {
    count = var.parts

    # A part that fails is not started again: nothing joins a run that has begun.
    restart {
      attempts = 0
      mode     = "fail"
    }
    reschedule {
      attempts  = 0
      unlimited = false
    }

    spread {
      attribute = "${node.unique.id}"
    }

    network {
      port "join" {}
    }
    # Only that of part 0 is asked for.
    service {
      provider = "nomad"
      name     = "vault-pki-load-part-${NOMAD_ALLOC_INDEX}"
      port     = "join"
    }

    task "part" {
      driver = "docker"
      config {
        image = var.image
        args  = concat(var.load, ["--join", "${JOIN}", "--out", "${NOMAD_TASK_DIR}/result.json"])
        ports = ["join"]
      }

      env {
        VAULT_ADDR           = var.vault_addr
        VAULT_PKI_LOAD_PARTS = var.parts
      }
      template {
        destination = "secrets/part.env"
        env         = true
        change_mode = "noop"
        # The part starts when part 0 has its address: a variable that never exists keeps the template waiting.
        data = <<-EOT
          {{ with nomadVar "nomad/jobs/vault-pki-load" }}
          VAULT_TOKEN={{ .token }}
          VAULT_PKI_LOAD_JOIN_SECRET={{ .secret }}
          {{ end }}
          {{ range nomadService "vault-pki-load-part-0" }}
          JOIN={{ .Address }}:{{ .Port }}
          {{ else }}
          {{ nomadVar "nomad/jobs/vault-pki-load/never" }}
          {{ end }}
        EOT
      }

      resources {
        cpu    = 1000
        memory = 512
      }
      kill_timeout = "30s"
    }
  }
}
