import type { Trouble } from '../../ingest/store/health-file.ts'
import type { StoreState } from '../../ingest/store/store-error.ts'
import { Moment } from './parts.tsx'
import { Visible } from './visible-text.tsx'

/** A state that a newer ingester names is shown as it is. */
const STATE_WORDS: Readonly<Record<StoreState, string>> = {
  no_sqlite: 'No SQLite',
  unsafe_sqlite: 'SQLite too old',
  missing: 'Database missing',
  not_a_database: 'Not a database',
  not_ours: 'Database of another program',
  newer_schema: 'Newer schema',
  older_schema: 'Older schema',
  full: 'Disk full',
  io: 'Disk error',
  corrupt: 'Database damaged',
  readonly: 'Database read-only',
  busy: 'Database locked',
  moved: 'Database moved',
  unknown: 'Database unusable',
}

export function troubleWords({ state }: Trouble): string {
  return STATE_WORDS[state] ?? state
}

/** One line under the head of every page. An empty element where all is well: htmx swaps it. */
export function TroubleBanner({ trouble }: { trouble: Trouble | undefined }) {
  if (!trouble) return <span class="hidden"></span>
  return (
    <p class="notice trouble">
      <strong>{troubleWords(trouble)}.</strong> Nothing new is read from the logs.{' '}
      <a href="/ingest">What to do</a>
    </p>
  )
}

/** The same at length, on the page about ingesting. */
export function TroubleSection({ trouble, zone }: { trouble: Trouble | undefined; zone: string }) {
  if (!trouble) return null
  return (
    <section aria-labelledby="trouble-head" class="notice">
      <h2 id="trouble-head">{troubleWords(trouble)}</h2>
      <p>
        <Visible text={trouble.message} />
      </p>
      <p>
        So since <Moment ms={trouble.sinceMs} zone={zone} />, last seen{' '}
        <Moment ms={trouble.atMs} zone={zone} />.{' '}
        {trouble.ended
          ? 'The ingester has ended; when this is mended, start it again.'
          : 'The ingester tries again and goes on by itself. Nothing is lost: the logs are kept.'}
      </p>
      <p>
        More is told by <code>unsilent doctor</code>.
      </p>
    </section>
  )
}
