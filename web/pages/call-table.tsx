import type { CallRow } from '../queries/call-store.ts'
import { OutcomeMark } from './families.tsx'
import { formatDuration } from './format.ts'
import type { View } from './links.tsx'
import { Age, Moment, WideTable } from './parts.tsx'
import { Name, shortened, Visible } from './visible-text.tsx'

const MAX_MESSAGE = 140
const MAX_ARGUMENTS = 90

/** Calls, a row each. `newerThan`: the id from which on a call arrived since the last look. */
export function CallTable({
  view,
  rows,
  label,
  current,
  newerThan,
}: {
  view: View
  rows: readonly CallRow[]
  label: string
  current?: number
  newerThan?: number | undefined
}) {
  return (
    <WideTable label={label} class="calls">
      <thead>
        <tr>
          <th scope="col">When</th>
          <th scope="col">Tool</th>
          <th scope="col">Outcome</th>
          <th scope="col" class="number">
            Took
          </th>
          <th scope="col">What happened</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr
            id={`call-${row.id}`}
            class={newerThan !== undefined && row.id > newerThan ? 'fresh' : undefined}
            aria-current={row.id === current ? 'true' : undefined}
          >
            <td class="moment">
              <a href={`/calls/${row.id}`}>
                <Moment ms={row.startedMs} zone={view.filter.zone} precision="minute" />
              </a>
            </td>
            <td>
              <Name text={row.tool} />
            </td>
            <td>
              <OutcomeMark outcome={row.outcome} errorClass={row.class} />
            </td>
            <td class="number took">{formatDuration(row.durationMs)}</td>
            <td class="what">
              <WhatHappened row={row} />
            </td>
          </tr>
        ))}
      </tbody>
    </WideTable>
  )
}

/** The error where there is one, else what was asked; marks first. */
function WhatHappened({ row }: { row: CallRow }) {
  return (
    <span>
      {marksOf(row).map((mark) => (
        <span class="mark">{mark}</span>
      ))}
      {row.errorMessage !== undefined ? (
        <Visible text={shortened(row.errorMessage, MAX_MESSAGE)} />
      ) : (
        <code class="quiet">
          <Visible text={shortened(row.args ?? '', MAX_ARGUMENTS)} />
        </code>
      )}
    </span>
  )
}

export function marksOf({ flags, attempts }: CallRow): string[] {
  const marks: string[] = []
  if (attempts > 1) marks.push(`${attempts} attempts`)
  if (flags.empty) marks.push('empty')
  if (flags.suspect) marks.push('suspect')
  if (flags.dropped) marks.push('arguments dropped')
  if (flags.undelivered) marks.push('not delivered')
  return marks
}

/** The few newest calls, for the overview. */
export function LatestCalls({
  view,
  rows,
  newerThan,
}: {
  view: View
  rows: readonly CallRow[]
  newerThan: number | undefined
}) {
  return (
    <ol class="latest">
      {rows.map((row) => (
        <li
          id={`latest-${row.id}`}
          class={newerThan !== undefined && row.id > newerThan ? 'fresh' : undefined}
        >
          <a href={`/calls/${row.id}`}>
            <span class="latest-tool">
              <Name text={row.tool} />
            </span>
            <OutcomeMark outcome={row.outcome} errorClass={row.class} />
            <span class="latest-when">
              <Age ms={row.startedMs} view={view} /> · {formatDuration(row.durationMs)}
            </span>
          </a>
        </li>
      ))}
    </ol>
  )
}
