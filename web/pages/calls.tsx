import type { CallPage, Facets } from '../queries/call-store.ts'
import { type Filter, printFilter } from '../queries/filter.ts'
import { isNarrow } from '../queries/sql/conditions.ts'
import { CallTable } from './call-table.tsx'
import { FilterBar } from './filter-bar.tsx'
import { formatCount, plural } from './format.ts'
import { hrefOf, SwapLink, type View } from './links.tsx'
import { Empty, Moment } from './parts.tsx'

export const CALLS_PER_PAGE = 50

export type CallsRows = {
  page: CallPage
  facets: Facets
  /** Calls of the range that the filter hides. */
  hidden: number
  /** The cursor of this page; undefined on the first one. */
  cursor: string | undefined
}

export function CallsPage({ view, rows }: { view: View; rows: CallsRows }) {
  const { page, facets, hidden, cursor } = rows
  return (
    <div class="with-sidebar">
      <h1>
        Calls{' '}
        <span class="count" data-say={plural(page.total, 'call')}>
          {formatCount(page.total)}
        </span>
      </h1>
      <FilterBar view={view} facets={facets} open={true} />
      <section class="results" aria-label="Calls">
        {hidden > 0 && (
          <p class="quiet">{plural(hidden, 'call')} of this range hidden by filters.</p>
        )}
        <Kept view={view} page={page} />
        <SearchBound view={view} page={page} />
        {page.rows.length === 0 ? (
          <NoMatch view={view} hidden={hidden} />
        ) : (
          <CallTable view={view} rows={page.rows} label="Calls, newest first" />
        )}
        <Paging view={view} rows={rows} first={cursor === undefined} />
      </section>
    </div>
  )
}

/** Rows are removed for their age or for space; counts outlive them. */
function Kept({ view: { filter }, page: { total, removed } }: { view: View; page: CallPage }) {
  if (removed === 0) return null
  const why = 'were removed for their age or for space'
  return isNarrow(filter) ? (
    <p class="quiet">
      Looked for in the rows that are kept: those of {plural(removed, 'more call')} {why}.
    </p>
  ) : (
    <p class="quiet">
      {formatCount(total - removed)} of {formatCount(total)} kept: the others {why}, and are only
      counted.
    </p>
  )
}

/** A text is looked for in the newest calls only: what was not looked at is said. */
function SearchBound({ view, page: { search } }: { view: View; page: CallPage }) {
  if (!search || search.searched >= search.calls) return null
  return (
    <p class="quiet">
      Searched the newest {formatCount(search.searched)} of {plural(search.calls, 'call')}, back to{' '}
      <Moment ms={search.fromMs} zone={view.filter.zone} precision="minute" />. Choose a range or a
      tool to search further.
    </p>
  )
}

function Paging({ view, rows, first }: { view: View; rows: CallsRows; first: boolean }) {
  const { next } = rows.page
  if (first && next === undefined) return null
  return (
    <nav class="paging" aria-label="Pages of calls">
      {!first && (
        <SwapLink href={pageHref(view, view.filter, undefined)} id="newest">
          Newest
        </SwapLink>
      )}
      {next !== undefined && (
        <SwapLink href={pageHref(view, view.filter, next)} id="older">
          Older
        </SwapLink>
      )}
    </nav>
  )
}

export function pageHref(view: View, filter: Filter, cursor: string | undefined): string {
  const query = printFilter(filter, { defaultZone: view.defaultZone })
  if (cursor !== undefined) query.set('cursor', cursor)
  return hrefOf(view.path, query)
}

function NoMatch({ view, hidden }: { view: View; hidden: number }) {
  return (
    <Empty title="No call matches">
      {hidden > 0 ? (
        <p>
          The filters above hide all {formatCount(hidden)} calls of this range.{' '}
          <SwapLink href={view.path} id="show-all">
            Show them all
          </SwapLink>
        </p>
      ) : (
        <p>There is no call in this range of time. Choose a longer one.</p>
      )}
    </Empty>
  )
}
