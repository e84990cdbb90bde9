import type { Child } from 'hono/jsx'
import type { CallDetail } from '../queries/call-store.ts'
import type { CallFacts } from './call-facts.ts'
import { formatBytes, formatCount, plural } from './format.ts'
import { callsHref, type View } from './links.tsx'
import { CopyButton, Facts } from './parts.tsx'
import { shortened, Visible } from './visible-text.tsx'

type Fact = [string, Child]

/** Who called whom, what came back, and where the record is. */
export function RecordFacts({
  view,
  call,
  facts,
}: {
  view: View
  call: CallDetail
  facts: CallFacts
}) {
  return (
    <>
      <Facts
        facts={[
          ...senderFacts(view, call),
          ...resultFacts(facts.result),
          ...facts.others.map(([name, value]): Fact => [name, <Code text={value} />]),
          ...placeFacts(call),
        ]}
      />
      <p class="copies">
        <CopyButton from={`/calls/${call.id}.json`} label="Copy as JSON" />
        <a href={`/calls/${call.id}.json`}>JSON</a>
      </p>
    </>
  )
}

function Code({ text, maxCharacters = 200 }: { text: string; maxCharacters?: number }) {
  return (
    <code>
      <Visible text={shortened(text, maxCharacters)} />
    </code>
  )
}

function senderFacts(view: View, call: CallDetail): Fact[] {
  const client = [call.client, call.clientVersion].filter(Boolean).join(' ')
  const { session } = call
  return [
    ['Server', <Visible text={`${call.server} ${call.serverVersion}`} />],
    ['Client', client ? <Visible text={client} /> : 'not told'],
    [
      'Session',
      session === undefined ? (
        'none'
      ) : (
        <a href={callsHref(view, { ...view.filter, session })}>
          <Code text={session} maxCharacters={16} />
        </a>
      ),
    ],
  ]
}

function resultFacts({ bytes, blocks, suspect }: CallFacts['result']): Fact[] {
  const facts: Fact[] = []
  if (bytes !== undefined) {
    const size = formatBytes(bytes)
    facts.push(['Result', blocks === undefined ? size : `${size} in ${plural(blocks, 'block')}`])
  }
  if (suspect !== undefined) facts.push(['Looks like', <Visible text={suspect} />])
  return facts
}

function placeFacts(call: CallDetail): Fact[] {
  return [
    ['Call id', <Code text={call.uid} />],
    [
      call.n < 0 ? 'In the journal of running calls' : 'In the log',
      <>
        <code class="path">
          <Visible text={call.file} />
        </code>{' '}
        at byte {formatCount(call.lineOffset)}
      </>,
    ],
    [
      'Writer',
      <>
        <Code text={call.writer} maxCharacters={12} />, {/* Below 0: see ingest/store/schema.ts. */}
        {call.n < 0 ? 'which wrote no record of it' : `record ${formatCount(call.n)}`}
      </>,
    ],
  ]
}
