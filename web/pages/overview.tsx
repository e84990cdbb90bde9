import type { Finding } from '../analysis/finding.ts'
import type { FindingsStatus } from '../analysis/findings.ts'
import type { TimeoutWindow } from '../analysis/timeout-window.ts'
import type {
  CallRow,
  Facets,
  HeatmapCell,
  KeyFigures,
  TimeBucket,
  ToolRow,
} from '../queries/call-store.ts'
import { LatestCalls } from './call-table.tsx'
import { CallsOverTime } from './calls-over-time.tsx'
import { FilterBar } from './filter-bar.tsx'
import { bestOfEachKind, FindingCards } from './finding-cards.tsx'
import { formatCount, plural } from './format.ts'
import { Heatmap } from './heatmap.tsx'
import { KeyFigureRow } from './key-figures.tsx'
import { callsHref, filterHref, SwapLink, type View } from './links.tsx'
import { LiveFacts, LiveStatus } from './live-status.tsx'
import { markedWindows } from './marked-windows.ts'
import { Empty } from './parts.tsx'
import { ToolTable } from './tool-table.tsx'

/** A page of nothing but findings would be no overview. */
const MAX_CARDS = 6

export type OverviewRows = {
  findings: readonly Finding[]
  /** What was tested and what is missing: with no findings, that is the answer. */
  status: FindingsStatus
  figures: KeyFigures
  buckets: TimeBucket[]
  heatmap: HeatmapCell[]
  windows: readonly TimeoutWindow[]
  tools: ToolRow[]
  latest: CallRow[]
  facets: Facets
  /** The newest call in the whole database, whatever the filter. */
  lastCallMs: number | undefined
}

export type Liveness = {
  /** Changes with the data and each minute: an unchanged page is not sent again. */
  token: string
  /** Ids above it arrived since the page was last drawn. */
  newerThan: number | undefined
}

export function OverviewPage({
  view,
  rows,
  live,
}: {
  view: View
  rows: OverviewRows
  live: Liveness
}) {
  return (
    <>
      <h1 class="hidden">Overview</h1>
      <FilterBar view={view} facets={rows.facets} open={false}>
        <LiveStatus view={view} lastCallMs={rows.lastCallMs} />
      </FilterBar>
      <LiveRegion view={view} rows={rows} live={live} />
    </>
  )
}

/** The part that refreshes. A failed refresh leaves it as it is; dashboard.js says since when. */
export function LiveRegion({
  view,
  rows,
  live,
}: {
  view: View
  rows: OverviewRows
  live: Liveness
}) {
  // Ids grow as calls are stored, which is not the order in which they began.
  const newest = Math.max(0, ...rows.latest.map(({ id }) => id))
  return (
    <div
      id="live"
      hx-get={filterHref(view, '/live')}
      hx-trigger="refresh"
      hx-swap="outerMorph"
      hx-include="#live-token"
      hx-sync="#view:drop"
      {...KEEP_OLD_ON_ERROR}
    >
      <fieldset id="live-token" hidden>
        <input type="hidden" name="token" value={live.token} />
        <input type="hidden" name="newest" value={newest} />
      </fieldset>
      <Findings rows={rows} />
      <KeyFigureRow view={view} figures={rows.figures} />
      {rows.figures.calls === 0 ? (
        <NothingHere view={view} hidden={rows.figures.hidden} />
      ) : (
        <Evidence view={view} rows={rows} newerThan={live.newerThan} />
      )}
    </div>
  )
}

/** The answer to a refresh: the region, and what stands outside of it. */
export function LiveAnswer(props: { view: View; rows: OverviewRows; live: Liveness }) {
  return (
    <>
      <LiveRegion {...props} />
      <hx-partial hx-target="#live-facts" hx-swap="innerHTML">
        <LiveFacts view={props.view} lastCallMs={props.rows.lastCallMs} />
      </hx-partial>
    </>
  )
}

const KEEP_OLD_ON_ERROR = { 'hx-status:4xx': 'swap:none', 'hx-status:5xx': 'swap:none' }

function Findings({ rows: { findings, windows, status } }: { rows: OverviewRows }) {
  const shown = bestOfEachKind(findings, MAX_CARDS)
  if (findings.length === 0) return <NoFindings status={status} />
  return (
    <section aria-labelledby="findings">
      <div class="section-head">
        <h2 id="findings">What needs attention</h2>
        <p class="quiet">
          In the last {plural(Math.floor(status.daysOfData), 'day')}, whatever is filtered.{' '}
          {shown.length < findings.length && (
            <a href="/findings">All {formatCount(findings.length)} findings</a>
          )}
        </p>
      </div>
      <FindingCards findings={shown} windows={windows} level="h3" />
    </section>
  )
}

function NoFindings({ status: { tested, missing } }: { status: FindingsStatus }) {
  return (
    <section aria-labelledby="findings">
      <h2 id="findings">Nothing stands out</h2>
      <p class="searched">
        {tested} {missing}
      </p>
    </section>
  )
}

function Evidence({
  view,
  rows,
  newerThan,
}: {
  view: View
  rows: OverviewRows
  newerThan: number | undefined
}) {
  return (
    <>
      <div class="main-and-aside">
        <div>
          <CallsOverTime view={view} buckets={rows.buckets} />
          <Heatmap
            view={view}
            cells={rows.heatmap}
            windows={markedWindows(rows.windows, view.filter)}
          />
        </div>
        <section aria-labelledby="latest">
          <div class="section-head">
            <h2 id="latest">Latest calls</h2>
            <a href={callsHref(view)}>All calls</a>
          </div>
          <LatestCalls view={view} rows={rows.latest} newerThan={newerThan} />
        </section>
      </div>
      <ToolTable view={view} rows={rows.tools} />
    </>
  )
}

function NothingHere({ view, hidden }: { view: View; hidden: number }) {
  return (
    <Empty title="No calls here">
      {hidden > 0 ? (
        <p>
          The filters hide all {formatCount(hidden)} calls of this range.{' '}
          <SwapLink href={view.path} id="show-all">
            Show them all
          </SwapLink>
        </p>
      ) : (
        <p>
          There is no call in this range of time.{' '}
          <SwapLink href={view.path} id="show-all">
            Look at the last 28 days
          </SwapLink>
        </p>
      )}
    </Empty>
  )
}
