import { readFileSync, readlinkSync } from 'node:fs'
import { attempt } from '../safe-read.ts'

/** Changes with each boot of the machine; only Linux tells it without a subprocess. */
export function bootId(): string | undefined {
  return attempt(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim())
}

/** Where pids are this process's own: a container has numbers of its own. Only Linux tells it. */
export function pidNamespace(): string | undefined {
  return attempt(() => readlinkSync('/proc/self/ns/pid'))
}
