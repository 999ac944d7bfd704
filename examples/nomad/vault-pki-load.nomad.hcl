# docs/machines.md has the commands.

variable "vault_addr" {
  type = string
}
# Nomad always pulls an image without a tag, or with the tag latest: one that exists only on the nodes needs another.
variable "image" {
  type = string
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
      name     = "${NOMAD_JOB_NAME}-part-${NOMAD_ALLOC_INDEX}"
      port     = "join"
    }

    task "part" {
      driver = "docker"
      config {
        image           = var.image
        args            = concat(var.load, ["--join", "${JOIN}", "--out", "${NOMAD_TASK_DIR}/result.json"])
        ports           = ["join"]
        readonly_rootfs = true
        cap_drop        = ["all"]
        security_opt    = ["no-new-privileges"]
      }

      env {
        VAULT_ADDR           = var.vault_addr
        VAULT_PKI_LOAD_PARTS = var.parts
      }
      template {
        destination = "secrets/part.env"
        env         = true
        change_mode = "noop"
        # The part starts when part 0 has its address: a variable that does not exist keeps the template waiting. It is
        # one that the job may read, as a refusal would count as an error, of which a template has few attempts.
        data = <<-EOT
          {{ with nomadVar "nomad/jobs/vault-pki-load" }}
          VAULT_TOKEN={{ .token }}
          VAULT_PKI_LOAD_JOIN_SECRET={{ .secret }}
          {{ end }}
          {{ range nomadService (print (env "NOMAD_JOB_NAME") "-part-0") }}
          JOIN={{ .Address }}:{{ .Port }}
          {{ else }}
          {{ nomadVar "nomad/jobs/vault-pki-load/parts/part" }}
          {{ end }}
        EOT
      }

      resources {
        cpu    = 1000
        memory = 512
      }
      # For the removal of what a part has created. A client's max_kill_timeout, 30s by default, may cap it.
      kill_timeout = "120s"
    }
  }
}
