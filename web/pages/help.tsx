import { CopyButton, Facts } from './parts.tsx'

/** All that a server needs to be seen here. */
export const WRAPPER_SNIPPET = `import { unsilence } from 'unsilent'

unsilence(server)  // before server.connect(transport)`

export function Snippet() {
  return (
    <div class="snippet">
      <pre id="wrapper-snippet">
        <code>{WRAPPER_SNIPPET}</code>
      </pre>
      <CopyButton from="#wrapper-snippet" label="Copy" />
    </div>
  )
}

export function HelpPage() {
  return (
    <>
      <h1>Help</h1>
      <section aria-labelledby="own-server">
        <h2 id="own-server">See an own server here</h2>
        <p>
          <code>npm install unsilent</code>, then two lines in the server:
        </p>
        <Snippet />
        <p>
          Every tool call becomes one line in a log; <code>unsilent serve</code> reads the log and
          shows it here.
        </p>
      </section>
      <section aria-labelledby="terms">
        <h2 id="terms">Words</h2>
        <Facts
          facts={[
            ['Succeeded', 'The tool answered at its first attempt.'],
            ['Retried', 'The first attempt failed for a moment’s reason, a later one succeeded.'],
            ['Failed', 'The client was told of a failure. The error class says which kind.'],
            [
              'Set aside',
              'Deferred (answered with a question) and cancelled calls: they are neither success nor failure and are left out of rates.',
            ],
            [
              'Failure rate',
              'Failed calls as a share of all that count, with the range in which the true rate lies with 95 % certainty (Wilson). Few calls make a wide range.',
            ],
            [
              'Median, 95 % within',
              'Half of all calls took at most the one, all but one in twenty at most the other.',
            ],
            [
              'Empty, suspect',
              'Successes that said nothing, or that look like an error text: the silent failures.',
            ],
            [
              'Found window',
              'A time of day at which timeouts come back on more days than chance explains.',
            ],
            [
              'Confirmed … fading',
              'How sure a finding is, best first: confirmed, likely, possible, emerging (new), fading (not seen lately).',
            ],
          ]}
        />
      </section>
      <section aria-labelledby="filters-help">
        <h2 id="filters-help">The address is the whole state</h2>
        <p>
          Copy it and you have copied the view. Ranges are written <code>from=now-7d</code>,{' '}
          <code>from=2026-03-08&to=2026-03-09T12:00</code>; a time of day{' '}
          <code>tod=22:00-02:00</code>; weekdays <code>dow=mon,fri</code>; a zone{' '}
          <code>tz=Europe/Berlin</code>. A value may be given several times, and <code>!value</code>{' '}
          leaves it out. Ranges and times of day are widened to quarter hours, so that each number
          equals the list behind it.
        </p>
        <p>
          The same address with <code>.json</code> after its path, as in{' '}
          <code>/calls.json?class=timeout</code>, answers the same rows as JSON.
        </p>
      </section>
    </>
  )
}
