/** The names under which this server may be asked for, each with its port. Lower case. */
export type OwnOrigin = { hosts: readonly string[]; origins: readonly string[] }

const LOOPBACK_NAMES = ['127.0.0.1', 'localhost', '[::1]']

/**
 * A page elsewhere can make a name of its own point to 127.0.0.1 and then read our answers. Its
 * requests still carry that name as `Host`, so a list of exact names and port stops it.
 */
export function ownOrigin(port: number): OwnOrigin {
  const hosts = LOOPBACK_NAMES.map((name) => (port === 80 ? name : `${name}:${port}`))
  return { hosts, origins: hosts.map((host) => `http://${host}`) }
}

export function isOwnHost(own: OwnOrigin, host: string | undefined): boolean {
  return host !== undefined && own.hosts.includes(host.toLowerCase())
}

export function isOwnUrlOrigin(own: OwnOrigin, origin: string | undefined): boolean {
  return origin !== undefined && own.origins.includes(origin.toLowerCase())
}
