import type { Problem } from '../queries/filter.ts'
import { Visible } from './visible-text.tsx'

/** 400: names each parameter that cannot be meant, and what to write instead. */
export function BadQueryPage({ problems, path }: { problems: readonly Problem[]; path: string }) {
  return (
    <div class="problem">
      <h1>This address cannot be understood</h1>
      <BadQueryList problems={problems} />
      <p>
        <a href={path}>Start without filters</a>
      </p>
    </div>
  )
}

export function BadQueryList({ problems }: { problems: readonly Problem[] }) {
  return (
    <dl class="bad-query">
      {problems.map(({ name, message }) => (
        <div>
          <dt>
            <code>
              <Visible text={name} />
            </code>
          </dt>
          <dd>
            <Visible text={message} />
          </dd>
        </div>
      ))}
    </dl>
  )
}

export function NotFoundPage({ what }: { what: string }) {
  return (
    <div class="problem">
      <h1>There is no such {what}</h1>
      <p>
        <a href="/">To the overview</a>, or to <a href="/calls">all calls</a>.
      </p>
    </div>
  )
}

/** 503: the database is away for now. */
export function UnavailablePage({ state }: { state: string }) {
  return (
    <div class="problem">
      <h1>The database cannot be read now</h1>
      <p>{state}</p>
      <p>
        This page works again as soon as the database does. It tries again by itself when you
        reload.
      </p>
    </div>
  )
}

export function BrokenPage() {
  return (
    <div class="problem">
      <h1>This page failed</h1>
      <p>The fault is ours; the details are on the terminal in which the dashboard runs.</p>
      <p>
        <a href="/">To the overview</a>
      </p>
    </div>
  )
}
