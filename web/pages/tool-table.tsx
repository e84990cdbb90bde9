import type { ToolRow } from '../queries/call-store.ts'
import { FamilyIcon, familyOfClass, wordOfClass } from './families.tsx'
import { formatCount, formatDuration } from './format.ts'
import { callsHref, onlyFailures, onlyTool, type View } from './links.tsx'
import { Age, RateBar, WideTable } from './parts.tsx'
import { Name, Visible } from './visible-text.tsx'

export function ToolTable({ view, rows }: { view: View; rows: ToolRow[] }) {
  if (rows.length === 0) return null
  const severalServers = new Set(rows.map(({ server }) => server)).size > 1
  return (
    <section aria-labelledby="tools">
      <div class="section-head">
        <h2 id="tools">Tools</h2>
      </div>
      <WideTable label="Tools" class="tools">
        <thead>
          <tr>
            <th scope="col">Tool</th>
            <th scope="col" class="number">
              Calls
            </th>
            <th scope="col" class="number">
              Failed
            </th>
            <th scope="col" class="rate-head">
              Failure rate
            </th>
            <th scope="col">Mostly</th>
            <th scope="col" class="number">
              Median
            </th>
            <th scope="col" class="number">
              95 % within
            </th>
            <th scope="col" class="number">
              Last call
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row view={view} row={row} withServer={severalServers} />
          ))}
        </tbody>
      </WideTable>
    </section>
  )
}

function Row({ view, row, withServer }: { view: View; row: ToolRow; withServer: boolean }) {
  const filter = onlyTool(view.filter, row.server, row.tool)
  return (
    <tr>
      <th scope="row">
        <a href={callsHref(view, filter)}>
          <Name text={row.tool} />
        </a>{' '}
        {withServer && (
          <span class="server quiet">
            <Visible text={row.server} />
          </span>
        )}
      </th>
      <td class="number">{formatCount(row.calls)}</td>
      <td class="number">
        {row.failures === 0 ? (
          '0'
        ) : (
          <a href={callsHref(view, onlyFailures(filter))}>{formatCount(row.failures)}</a>
        )}
      </td>
      <td>
        <RateBar failureRate={row.failureRate} />
      </td>
      <td>
        {row.topClass && (
          <span class="outcome">
            <FamilyIcon family={familyOfClass(row.topClass)} />
            {wordOfClass(row.topClass)}
          </span>
        )}
      </td>
      <td class="number">{formatDuration(row.p50Ms)}</td>
      <td class="number">{formatDuration(row.p95Ms)}</td>
      <td class="number">
        <Age ms={row.lastMs} view={view} />
      </td>
    </tr>
  )
}
