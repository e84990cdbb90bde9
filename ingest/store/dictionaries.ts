import type { NameAndVersion } from '../../server/call-log/record.ts'
import type { Database } from './load-sqlite.ts'
import { cleanName, cleanVersion } from './names.ts'

/** A program that makes up names (a tool name a call) must not fill the tables that charts go by. */
const MAX_TOOLS_PER_SERVER = 1000
const MAX_SERVERS = 1000
const MAX_CLIENTS = 1000
const MAX_PROTOCOLS = 1000
/** Entries of a memory, not of a table: it is emptied and filled again from the table. */
const MAX_REMEMBERED = 100_000
const MAX_REMEMBERED_LENGTH = 1024

/** Stands for all names beyond the limit. */
export const OTHER = '(other)'

/** Names to row ids. Ids of a transaction that was rolled back must be forgotten: call `forget`. */
export type Dictionaries = {
  server(server: NameAndVersion): number
  /** `id` of `(other)` and `kept: false` where the server has too many tools already. */
  tool(server: string, tool: string): { id: number; kept: boolean }
  /** 0: not known. */
  client(client: NameAndVersion | undefined): number
  session(key: string): number
  /** Undefined where there are too many of them already. */
  protocol(version: string, transport: string): number | undefined
  forget(): void
}

export function createDictionaries(database: Database): Dictionaries {
  const servers = createMemory<number>()
  const tools = createMemory<{ id: number; kept: boolean }>()
  const clients = createMemory<number>()
  const sessions = createMemory<number>()
  const protocols = createMemory<number | undefined>()

  const server = pairTable(
    database,
    'SELECT id FROM server WHERE name = ? AND version = ?',
    'INSERT OR IGNORE INTO server (name, version) VALUES (?, ?)',
  )
  const tool = pairTable(
    database,
    'SELECT id FROM tool WHERE server_name = ? AND name = ?',
    'INSERT OR IGNORE INTO tool (server_name, name) VALUES (?, ?)',
  )
  const client = pairTable(
    database,
    'SELECT id FROM client WHERE name = ? AND version = ?',
    'INSERT OR IGNORE INTO client (name, version) VALUES (?, ?)',
  )
  const protocol = pairTable(
    database,
    'SELECT id FROM protocol WHERE version = ? AND transport = ?',
    'INSERT OR IGNORE INTO protocol (version, transport) VALUES (?, ?)',
  )
  const protocolCount = database.prepare('SELECT count(*) FROM protocol').pluck()
  const toolCount = database.prepare('SELECT count(*) FROM tool WHERE server_name = ?').pluck()
  const serverCount = database.prepare('SELECT count(*) FROM server').pluck()
  const clientCount = database.prepare('SELECT count(*) FROM client').pluck()
  const addSession = database.prepare('INSERT OR IGNORE INTO session (key) VALUES (?)')
  const findSession = database.prepare('SELECT id FROM session WHERE key = ?').pluck()

  return {
    server({ name, version }) {
      return remembered(servers, name, version, () => {
        const clean = cleanName(name)
        const found = server.find(clean, cleanVersion(version))
        if (found !== undefined) return found
        const full = (serverCount.get() as number) >= MAX_SERVERS
        return full ? server.add(OTHER, '') : server.add(clean, cleanVersion(version))
      })
    },
    tool(serverName, name) {
      return remembered(tools, serverName, name, () => {
        const owner = cleanName(serverName)
        const clean = cleanName(name)
        const found = tool.find(owner, clean)
        if (found !== undefined) return { id: found, kept: true }
        if ((toolCount.get(owner) as number) < MAX_TOOLS_PER_SERVER) {
          return { id: tool.add(owner, clean), kept: true }
        }
        return { id: tool.add(owner, OTHER), kept: false }
      })
    },
    client(value) {
      if (!value) return 0
      return remembered(clients, value.name, value.version, () => {
        const name = cleanName(value.name)
        const version = cleanName(value.version)
        const found = client.find(name, version)
        if (found !== undefined) return found
        const full = (clientCount.get() as number) >= MAX_CLIENTS
        return full ? client.add(OTHER, '') : client.add(name, version)
      })
    },
    session(key) {
      return remembered(sessions, '', key, () => {
        const clean = cleanName(key)
        const { changes, lastInsertRowid } = addSession.run(clean)
        return changes === 1 ? Number(lastInsertRowid) : (findSession.get(clean) as number)
      })
    },
    protocol(version, transport) {
      return remembered(protocols, version, transport, () => {
        const found = protocol.find(version, transport)
        if (found !== undefined) return found
        const full = (protocolCount.get() as number) >= MAX_PROTOCOLS
        return full ? undefined : protocol.add(version, transport)
      })
    },
    forget() {
      for (const memory of [servers, tools, clients, sessions, protocols]) memory.clear()
    },
  }
}

function pairTable(database: Database, findSql: string, addSql: string) {
  const find = database.prepare(findSql).pluck()
  const add = database.prepare(addSql)
  return {
    find: (a: string, b: string) => find.get(a, b) as number | undefined,
    add(a: string, b: string): number {
      add.run(a, b)
      return find.get(a, b) as number
    },
  }
}

/**
 * By two keys, without putting them together for each call. Lines that follow each other are mostly
 * from one program: the last answer is at hand, which is cheaper than to hash two strings.
 */
type Memory<T> = {
  size: number
  values: Map<string, Map<string, T>>
  last: { first: string; second: string; value: T } | undefined
  clear(): void
}

function createMemory<T>(): Memory<T> {
  return {
    size: 0,
    values: new Map(),
    last: undefined,
    clear() {
      this.size = 0
      this.last = undefined
      this.values.clear()
    },
  }
}

function remembered<T>(memory: Memory<T>, first: string, second: string, make: () => T): T {
  const { last } = memory
  if (last && last.second === second && last.first === first) return last.value
  const known = memory.values.get(first)?.get(second)
  if (known !== undefined) {
    memory.last = { first, second, value: known }
    return known
  }
  const made = make()
  if (first.length + second.length > MAX_REMEMBERED_LENGTH) return made
  if (memory.size >= MAX_REMEMBERED) memory.clear()
  let inner = memory.values.get(first)
  if (!inner) {
    inner = new Map()
    memory.values.set(first, inner)
  }
  inner.set(second, made)
  memory.size += 1
  return made
}
