import { statSync } from 'node:fs'
import { asStoreError } from '../ingest/store/store-error.ts'
import type { Finding } from './analysis/finding.ts'
import type { CallStore } from './queries/call-store.ts'

/** TEMPORARY */
export type FindingSource = {
  current(): readonly Finding[]
  windows(): readonly unknown[]
  status(): unknown
}

/** What pages are made of, at one moment. */
export type Data = {
  store: CallStore
  findings: FindingSource
  /** Changes when another file took the database's place: data versions compare only within one. */
  generation: number
}

/** Gives the open database, or throws StoreError while there is none. */
export type DataSource = { current(): Data; close(): void }

export type DataSourceOptions = {
  databasePath: string
  openStore: (databasePath: string) => CallStore
  createFindings: (store: CallStore) => FindingSource
}

/**
 * Opens the database now, and again whenever another file stands in its place. SQLite would go on
 * reading a deleted file without a word, so each request looks whether it is still the same one:
 * a few microseconds.
 */
export function openDataSource(options: DataSourceOptions): DataSource {
  let generation = 0
  let open: { data: Data; identity: string } | undefined

  function reopen(identity: string): Data {
    open?.data.store.close()
    open = undefined
    const store = options.openStore(options.databasePath)
    generation++
    const data: Data = { store, findings: options.createFindings(store), generation }
    open = { data, identity }
    return data
  }

  const source: DataSource = {
    current() {
      const identity = identityOf(options.databasePath)
      return open?.identity === identity ? open.data : reopen(identity)
    },
    close() {
      open?.data.store.close()
      open = undefined
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
