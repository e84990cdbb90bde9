import type { Child } from 'hono/jsx'
import type { Trouble } from '../../ingest/store/health-file.ts'
import type { IngestHealth } from '../queries/call-store.ts'
import { formatBytes, formatCount, NO_VALUE, plural } from './format.ts'
import { Figure } from './key-figures.tsx'
import type { View } from './links.tsx'
import { Age, Empty, WideTable } from './parts.tsx'
import { reasonWords } from './refusal-words.ts'
import { TroubleSection } from './trouble.tsx'
import { Visible } from './visible-text.tsx'

/** No look for so long means that nobody ingests. */
const STALE_MS = 30_000

export function IngestPage({
  view,
  health,
  trouble,
}: {
  view: View
  health: IngestHealth
  trouble: Trouble | undefined
}) {
  return (
    <>
      <h1>Ingest</h1>
      <p class="lead">
        What was read from the logs, what was refused, and what is missing. Nothing is dropped
        without a count.
      </p>
      <TroubleSection trouble={trouble} zone={view.filter.zone} />
      <State view={view} health={health} />
      <Problems health={health} />
      <Streams view={view} health={health} />
      <Refused health={health} />
      <Gaps health={health} />
      <Removals view={view} health={health} />
    </>
  )
}

function State({ view, health }: { view: View; health: IngestHealth }) {
  const { ingester, streams, quarantine, gaps, databaseBytes } = health
  const refused = quarantine.reduce((sum, { lines }) => sum + lines, 0)
  const lost = gaps.reduce((sum, { firstN, lastN }) => sum + lastN - firstN + 1, 0)
  const rows = streams.reduce((sum, stream) => sum + stream.rows, 0)
  return (
    <>
      <section class="figures" aria-label="State">
        <IngesterFigure view={view} ingester={ingester} />
        <Figure
          name="Waiting"
          value={ingester ? formatBytes(ingester.lagBytes) : NO_VALUE}
          note="seen, not yet stored"
        />
        <Figure
          name="Rows"
          value={formatCount(rows)}
          note={`from ${plural(streams.length, 'file')}`}
        />
        <Figure name="Refused" value={formatCount(refused)} note="lines that are no record" />
        <Figure name="Lost" value={formatCount(lost)} note="written, but in no file" />
        <Figure name="Database" value={formatBytes(databaseBytes)} note="on disk" />
      </section>
      <Watched ingester={ingester} />
    </>
  )
}

function IngesterFigure({ view, ingester }: { view: View; ingester: IngestHealth['ingester'] }) {
  if (!ingester) return <Figure name="Ingester" value="None" note="never ran" />
  const stale = view.nowMs - ingester.lastPollMs > STALE_MS
  return (
    <Figure
      name="Ingester"
      value={stale ? 'Stopped' : 'Running'}
      note={
        <>
          last looked <Age ms={ingester.lastPollMs} view={view} />
        </>
      }
    />
  )
}

function Watched({ ingester }: { ingester: IngestHealth['ingester'] }) {
  if (!ingester) {
    return (
      <p class="notice">
        Nothing reads logs: start <code>unsilent serve</code>, or <code>unsilent ingest</code>{' '}
        beside this.
      </p>
    )
  }
  return (
    <p class="quiet watched-line">
      Watched:{' '}
      {ingester.roots.map((root) => (
        <code>
          <Visible text={root} />{' '}
        </code>
      ))}
    </p>
  )
}

function Problems({ health: { ingester } }: { health: IngestHealth }) {
  if (!ingester || ingester.problems.length === 0) return null
  return (
    <section aria-labelledby="problems" class="notice">
      <h2 id="problems">Could not be read</h2>
      <ul>
        {ingester.problems.map((problem) => (
          <li>
            <Visible text={problem} />
          </li>
        ))}
      </ul>
    </section>
  )
}

function Streams({ view, health: { streams } }: { view: View; health: IngestHealth }) {
  return (
    <section aria-labelledby="streams">
      <h2 id="streams">Log files</h2>
      {streams.length === 0 ? (
        <Empty title="No log file yet">
          <p>A server that is wrapped writes one as soon as it starts.</p>
        </Empty>
      ) : (
        <WideTable label="Log files" class="compact">
          <thead>
            <tr>
              <th scope="col">File</th>
              <th scope="col">State</th>
              <th scope="col" class="number">
                Read
              </th>
              <th scope="col" class="number">
                Rows
              </th>
              <th scope="col" class="number">
                Seen twice
              </th>
              <th scope="col" class="number">
                Refused
              </th>
              <th scope="col" class="number">
                Grew
              </th>
            </tr>
          </thead>
          <tbody>
            {streams.map((stream) => (
              <tr>
                <th scope="row" class="path">
                  <code>
                    <Visible text={stream.path} />
                  </code>
                </th>
                <td>
                  <Visible text={stream.state} />
                </td>
                <td class="number">{formatBytes(stream.committedOffset)}</td>
                <td class="number">{formatCount(stream.rows)}</td>
                <td class="number">{formatCount(stream.duplicateRows)}</td>
                <td class="number">{formatCount(stream.quarantinedLines)}</td>
                <td class="number">
                  <Age ms={stream.lastGrowthMs} view={view} />
                </td>
              </tr>
            ))}
          </tbody>
        </WideTable>
      )}
    </section>
  )
}

function Refused({ health: { quarantine, quarantined } }: { health: IngestHealth }) {
  return (
    <section aria-labelledby="refused">
      <h2 id="refused">Refused lines</h2>
      {quarantine.length === 0 ? (
        <p class="quiet">None: every line that was read became a row.</p>
      ) : (
        <>
          <ul class="reasons">
            {quarantine.map(({ reason, lines, bytes }) => (
              <li>
                <Visible text={reasonWords(reason)} />: {plural(lines, 'line')},{' '}
                {formatBytes(bytes)}
              </li>
            ))}
          </ul>
          <RefusedTable quarantined={quarantined} />
        </>
      )}
    </section>
  )
}

function RefusedTable({ quarantined }: { quarantined: IngestHealth['quarantined'] }) {
  return (
    <WideTable label="Refused lines with their places" class="compact">
      <thead>
        <tr>
          <th scope="col">Reason</th>
          <th scope="col">Place</th>
          <th scope="col" class="number">
            Lines
          </th>
          <th scope="col" class="number">
            Bytes
          </th>
          <th scope="col">It begins with</th>
        </tr>
      </thead>
      <tbody>
        {quarantined.map((entry) => (
          <tr>
            <th scope="row">
              <Visible text={reasonWords(entry.reason)} />
            </th>
            <td class="path">
              <code>
                <Visible text={`${entry.path}:${entry.lineNumber}`} />
              </code>{' '}
              <span class="quiet">byte {formatCount(entry.lineOffset)}</span>
            </td>
            <td class="number">{formatCount(entry.lines)}</td>
            <td class="number">{formatCount(entry.lengthBytes)}</td>
            <td class="sample">
              <code>
                <Visible text={entry.sample} />
              </code>
            </td>
          </tr>
        ))}
      </tbody>
    </WideTable>
  )
}

const REMOVAL_WORDS: Readonly<Record<string, string>> = {
  age: 'for their age (--keep)',
  size: 'for space (--max-db)',
  forget: 'on request (unsilent forget)',
}

/** Calls that retention removed stay in the charts; what was forgotten does not. */
function Removals({ view, health: { removals } }: { view: View; health: IngestHealth }) {
  return (
    <section aria-labelledby="removed">
      <h2 id="removed">Removed rows</h2>
      {removals.length === 0 ? (
        <p class="quiet">None yet.</p>
      ) : (
        <ul class="reasons">
          {removals.map((removal) => (
            <li>
              {plural(removal.calls, 'call')}, {plural(removal.events, 'process record')} and{' '}
              {plural(removal.refusedLines, 'refused line')}{' '}
              <Visible text={REMOVAL_WORDS[removal.reason] ?? removal.reason} />, last{' '}
              <Age ms={removal.lastMs} view={view} />
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

function Gaps({ health: { gaps } }: { health: IngestHealth }) {
  return (
    <section aria-labelledby="gaps">
      <h2 id="gaps">Lost records</h2>
      {gaps.length === 0 ? (
        <p class="quiet">None: the numbers that writers count with have no hole.</p>
      ) : (
        <ul class="reasons">
          {gaps.map(({ writer, server, firstN, lastN, reason, exited }) => (
            <li>
              {plural(lastN - firstN + 1, 'record')} of{' '}
              <Visible text={server ?? 'an unknown server'} />: numbers {formatCount(firstN)} to{' '}
              {formatCount(lastN)} of writer{' '}
              <code>
                <Visible text={writer} />
              </code>
              ; {whereTheyWent(reason, exited)}
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

function whereTheyWent(reason: string | undefined, exited: boolean): Child {
  if (reason !== undefined) {
    return (
      <>
        the writer could not write them (<Visible text={reason} />)
      </>
    )
  }
  return exited
    ? 'they stood in a file that was gone before it was read'
    : 'their file was not read, or is yet to be'
}
