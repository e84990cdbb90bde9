import { statSync } from 'node:fs'
import { readTrouble, type Trouble } from '../ingest/store/health-file.ts'
import { asStoreError, StoreError } from '../ingest/store/store-error.ts'
import type { Findings } from './analysis/findings.ts'
import type { CallStore } from './queries/call-store.ts'

/** What pages are made of, at one moment. */
export type Data = {
  store: CallStore
  findings: Findings
  /** Changes when another file took the database's place: data versions compare only within one. */
  generation: number
}

/** Gives the open database, or throws StoreError while there is none. */
export type DataSource = {
  current(): Data
  /** What stands in the ingester's way, as it last said; asked even while there is no database. */
  trouble(): Trouble | undefined
  close(): void
}

export type DataSourceOptions = {
  databasePath: string
  openStore: (databasePath: string) => CallStore
  createFindings: (store: CallStore) => Findings
}

/**
 * Opens the database now, and again whenever another file stands in its place. SQLite would go on
 * reading a deleted file without a word, so each request looks whether it is still the same one:
 * a few microseconds.
 */
export function openDataSource(options: DataSourceOptions): DataSource {
  let generation = 0
  let closed = false
  let open: { data: Data; identity: string } | undefined

  function close(): void {
    open?.data.findings.close()
    open?.data.store.close()
    open = undefined
  }

  function reopen(identity: string): Data {
    close()
    const store = options.openStore(options.databasePath)
    generation++
    const data: Data = { store, findings: options.createFindings(store), generation }
    open = { data, identity }
    return data
  }

  const source: DataSource = {
    current() {
      if (closed) throw new StoreError('unknown', 'The dashboard is being closed.')
      const identity = identityOf(options.databasePath)
      return open?.identity === identity ? open.data : reopen(identity)
    },
    trouble: () => readTrouble(options.databasePath),
    close() {
      closed = true
      close()
    },
  }
  source.current()
  return source
}

function identityOf(path: string): string {
  try {
    const { dev, ino, birthtimeNs } = statSync(path, { bigint: true })
    return `${dev}.${ino}.${birthtimeNs}`
  } catch (error) {
    throw asStoreError(error, path)
  }
}
