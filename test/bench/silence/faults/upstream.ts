import { connect } from 'node:tls'
import { type Fault, type Tool, text } from '../fault.ts'

const calls = (id: string, what: string, cause: RegExp, run: Tool['run']): Fault => ({
  id,
  what,
  group: 'upstream',
  cause,
  tool: { run },
})

/** A tool that asks an address and hands on the JSON it gets. */
const getJson =
  (path: string): Tool['run'] =>
  async (_args, { upstream, signal }) => {
    const response = await fetch(`${await upstream()}${path}`, { signal })
    return text(JSON.stringify(await response.json()))
  }

/** The same, without a look at the status: what comes is taken for data. */
const getText =
  (path: string): Tool['run'] =>
  async (_args, { upstream, signal }) => {
    const response = await fetch(`${await upstream()}${path}`, { signal })
    return text(await response.text())
  }

/** The same, with the check that authors write. */
const getChecked =
  (path: string): Tool['run'] =>
  async (_args, { upstream, signal }) => {
    const response = await fetch(`${await upstream()}${path}`, { signal })
    if (response.ok) return text(await response.text())
    const headers = Object.fromEntries(response.headers)
    const { status } = response
    throw Object.assign(new Error(`HTTP ${status}`), { response: { status, headers } })
  }

export const upstreamFaults: Fault[] = [
  calls('refused', 'connection refused', /ECONNREFUSED/, async () => {
    // Port 9 (discard) is served nowhere, and fetch refuses it; 1 is as empty.
    await new Promise((_resolve, reject) => connect(1, '127.0.0.1').on('error', reject))
    return text('never')
  }),
  calls(
    'reset',
    'reset in the middle of the body',
    /terminated|closed|ECONNRESET|SOCKET/i,
    getText('/reset'),
  ),
  calls('upstream_slow', 'its own deadline of 300 ms', /time/i, async (_args, { upstream }) => {
    const signal = AbortSignal.timeout(300)
    return text(await (await fetch(`${await upstream()}/hang`, { signal })).text())
  }),
  calls('html_for_json', 'HTML in place of JSON', /JSON|HTML|cannot use/i, getJson('/html')),
  calls('cut_json', 'JSON that ends too soon', /JSON|cannot use/i, getJson('/cut')),
  calls('http_429', '429 with Retry-After', /429|rate/i, getChecked('/429')),
  calls('http_503', '503', /503/, getChecked('/503')),
  calls('http_404', '404', /404/, getChecked('/404')),
  calls(
    'tls_plain',
    'TLS to a plain HTTP port',
    /TLS|SSL|EPROTO|certificate/i,
    async (_args, context) => {
      const { port } = new URL(await context.upstream())
      await new Promise((_resolve, reject) =>
        connect(Number(port), '127.0.0.1').on('error', reject),
      )
      return text('never')
    },
  ),
  calls('status_ignored_500', '500 taken for data', /500|error/i, getText('/500')),
  calls('status_ignored_429', '429 taken for data', /rate|429/i, getText('/429')),
  calls('status_ignored_html', '404 page taken for data', /404|not found/i, getText('/404')),
  {
    ...calls('status_ignored_empty', '204 taken for data', /empty/i, getText('/204')),
    warning: /failed without/,
  },
  {
    ...calls('flaky', 'fails once, then answers', /ECONNRESET|closed|reached/i, getText('/flaky')),
    healed: /^42 invoices$/,
    tool: { readOnly: true, run: getText('/flaky') },
  },
]
