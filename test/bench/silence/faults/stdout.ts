import { type Fault, type Tool, text } from '../fault.ts'

const prints = (id: string, what: string, run: Tool['run']): Fault => ({
  id,
  what,
  group: 'stdout',
  cause: /stdout/,
  healed: /^42 invoices$/,
  tool: { run },
})

const answer = () => text('42 invoices')

/** What a tool or its library prints to stdout, which belongs to the protocol. */
export const stdoutFaults: Fault[] = [
  prints('prints_line', 'console.log', () => {
    console.log('looking for invoices')
    return answer()
  }),
  prints('prints_part', 'a progress dot without a line end', () => {
    process.stdout.write('.')
    return answer()
  }),
  prints('prints_spinner', 'a spinner', () => {
    process.stdout.write('\r\u001b[K⠋ loading')
    return answer()
  }),
  prints('prints_json', 'a JSON log line', () => {
    process.stdout.write(`${JSON.stringify({ level: 30, msg: 'looking' })}\n`)
    return answer()
  }),
  prints(
    'prints_answer',
    'a JSON-RPC answer it got itself, same id',
    async (_args, { request }) => {
      const got = { jsonrpc: '2.0', id: request, result: { content: [] } }
      console.log(JSON.stringify(got))
      return answer()
    },
  ),
]
