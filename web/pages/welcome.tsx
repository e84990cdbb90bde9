import type { IngestHealth } from '../queries/call-store.ts'
import { Snippet } from './help.tsx'
import type { View } from './links.tsx'
import { Age } from './parts.tsx'
import { Visible } from './visible-text.tsx'

/** The overview of an empty database: what to do, and whether anybody is looking. */
export function WelcomePage({
  view,
  health,
  token,
}: {
  view: View
  health: IngestHealth
  /** Sent back by the page when it asks whether something has come. */
  token: string
}) {
  return (
    <div
      class="welcome"
      id="live"
      hx-get="/live"
      hx-trigger="refresh"
      hx-include="#live-token"
      hx-swap="none"
    >
      <fieldset id="live-token" hidden>
        <input type="hidden" name="token" value={token} />
      </fieldset>
      <h1>No tool call yet</h1>
      <p class="lead">
        As soon as a server that is wrapped answers its first call, it appears here by itself.
      </p>
      <ol>
        <li>
          <p>
            Install the package where the server is: <code>npm install unsilent</code>
          </p>
        </li>
        <li>
          <p>Wrap the server, in two lines:</p>
          <Snippet />
        </li>
        <li>
          <p>Use it once, from any client.</p>
        </li>
      </ol>
      <Watched view={view} health={health} />
    </div>
  )
}

function Watched({ view, health: { ingester, streams } }: { view: View; health: IngestHealth }) {
  if (!ingester) {
    return (
      <p class="notice">
        Nothing is reading logs now: start <code>unsilent serve</code>, which reads and shows, or{' '}
        <code>unsilent ingest</code> beside this.
      </p>
    )
  }
  return (
    <div class="watched">
      <h2>Watched for logs</h2>
      <ul class="plain">
        {ingester.roots.map((root) => (
          <li>
            <code>
              <Visible text={root} />
            </code>
          </li>
        ))}
      </ul>
      <p class="quiet">
        Last looked <Age ms={ingester.lastPollMs} view={view} />;{' '}
        {streams.length === 0
          ? 'no log file was there.'
          : 'log files were there, but no call in them.'}{' '}
        <a href="/ingest">More about ingest</a>
      </p>
    </div>
  )
}
