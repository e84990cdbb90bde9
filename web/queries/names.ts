import type { Database } from '../../ingest/store/load-sqlite.ts'
import { ERROR_CLASSES, OUTCOMES } from '../../server/call-log/record.ts'
import { type Choice, type Filter, isOpen, UNKNOWN_CLIENT } from './filter.ts'

/**
 * The dictionaries of the database in memory: names are few, and a filter becomes lists of ids
 * before it reaches SQL. They only grow, so an id once read stays right.
 */
export type Names = {
  servers: Map<number, { name: string; version: string }>
  tools: Map<number, { server: string; name: string }>
  clients: Map<number, { name: string; version: string }>
}

type ServerRow = { id: number; name: string; version: string }
type ToolRow = { id: number; server_name: string; name: string }

const SERVERS = 'SELECT id, name, version FROM server'
const TOOLS = 'SELECT id, server_name, name FROM tool'
const CLIENTS = 'SELECT id, name, version FROM client'

export function readNames(database: Database): Names {
  const servers = database.prepare<[], ServerRow>(SERVERS).all()
  const tools = database.prepare<[], ToolRow>(TOOLS).all()
  const clients = database.prepare<[], ServerRow>(CLIENTS).all()
  return {
    servers: new Map(servers.map(({ id, name, version }) => [id, { name, version }])),
    tools: new Map(tools.map(({ id, server_name, name }) => [id, { server: server_name, name }])),
    clients: new Map(
      clients.map(({ id, name, version }) => [
        id,
        { name: id === 0 ? UNKNOWN_CLIENT : name, version },
      ]),
    ),
  }
}

/** The ids a filter keeps; undefined where a dimension is open, so that it costs nothing. */
export type ChosenIds = {
  servers: number[] | undefined
  tools: number[] | undefined
  clients: number[] | undefined
  /** 0 is "no error". */
  classes: number[] | undefined
  outcomes: number[] | undefined
}

export function chosenIds(filter: Filter, names: Names): ChosenIds {
  const byServer = idsOf(filter.server, names.servers, ({ name }) => name)
  const byVersion = idsOf(filter.version, names.servers, ({ version }) => version)
  return {
    servers:
      byServer && byVersion
        ? byServer.filter((id) => byVersion.includes(id))
        : (byServer ?? byVersion),
    tools: idsOf(filter.tool, names.tools, ({ name }) => name),
    clients: idsOf(filter.client, names.clients, ({ name }) => name),
    classes: idsOf(filter.class, CLASS_NAMES, (name) => name),
    outcomes: idsOf(filter.outcome, OUTCOME_NAMES, (name) => name),
  }
}

const CLASS_NAMES = new Map<number, string>([
  [0, ''],
  ...ERROR_CLASSES.map((name, i): [number, string] => [i + 1, name]),
])
const OUTCOME_NAMES = new Map(OUTCOMES.map((name, i): [number, string] => [i + 1, name]))

function idsOf<T>(
  choice: Choice,
  dictionary: ReadonlyMap<number, T>,
  nameOf: (entry: T) => string,
): number[] | undefined {
  if (isOpen(choice)) return undefined
  const ids: number[] = []
  for (const [id, entry] of dictionary) {
    const name = nameOf(entry)
    if (choice.include.length > 0 && !choice.include.includes(name)) continue
    if (!choice.exclude.includes(name)) ids.push(id)
  }
  return ids
}
