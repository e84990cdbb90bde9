import { RATE_LIMITED, STRING_NUMBER } from './planted.ts'
import type { Random } from './random.ts'
import { type Cast, type Script, type Step, step } from './script.ts'
import { CURRENCY_PAIRS, CUSTOMERS, INVOICE_IDS } from './world.ts'

/** Exports that the upstream lets through before it answers 429. */
const EXPORTS_BEFORE_LIMIT = 4

export function* billingScript(cast: Cast): Script {
  const { random, quotas } = cast
  if (quotas.unknownTool()) yield* guessToolName()
  if (quotas.rateLimit()) return yield* exportEverybody(cast)
  if (quotas.loop()) return yield* loop(cast)
  const draw = random.next()
  if (draw < 0.5) yield* reviewInvoices(cast)
  else if (draw < 0.72) yield* raiseInvoice(cast)
  else if (draw < 0.88) yield* exportOne(cast)
  else yield* checkRates(cast)
}

function* reviewInvoices(cast: Cast): Script {
  yield* listInvoices(cast)
  const count = cast.random.integer(1, 4)
  for (let index = 0; index < count; index += 1) yield* getInvoice(cast)
}

function* listInvoices({ random, client, quotas }: Cast): Script {
  const args: Record<string, unknown> = { customer: random.pick(CUSTOMERS) }
  if (random.chance(0.4)) args.status = random.pick(['open', 'paid', 'overdue'])
  if (client.name === STRING_NUMBER.client && quotas.stringNumber()) {
    yield step('list_invoices', { ...args, limit: STRING_NUMBER.value }, wrongLimit())
    yield step('list_invoices', { ...args, limit: 10 }, { pauseMs: 2_500 })
    return
  }
  if (random.chance(0.3)) args.limit = random.pick([5, 10, 50])
  yield step('list_invoices', args)
}

function wrongLimit(): Partial<Step> {
  return {
    plant: 'string_number',
    first: true,
    intention: {
      kind: 'invalid_arguments',
      problem: `\`${STRING_NUMBER.path}\`: expected ${STRING_NUMBER.expected}, received string "${STRING_NUMBER.value}"; send it as a number, without quotes.`,
      issues: [
        {
          path: STRING_NUMBER.path,
          code: 'wrong_type',
          subtype: 'stringified_number',
          expected: STRING_NUMBER.expected,
          received: 'string',
        },
      ],
    },
  }
}

function* getInvoice({ random, quotas }: Cast): Script {
  if (quotas.missing()) {
    const invoice_id = missingInvoice(random)
    yield step('get_invoice', { invoice_id }, notFound(invoice_id, { plant: 'tool_error' }))
  }
  yield step('get_invoice', { invoice_id: knownInvoice(random) })
}

function* raiseInvoice({ random, quotas }: Cast): Script {
  const [base, quote] = random.pick(CURRENCY_PAIRS)
  yield step('get_exchange_rate', { base, quote })
  const invoice = newInvoice(random)
  const answer = yield step(
    'create_invoice',
    invoice,
    quotas.deferred() ? { plant: 'deferred', intention: { kind: 'deferred' } } : undefined,
  )
  if (!answer.failed) yield step('get_invoice', { invoice_id: knownInvoice(random) })
}

function* exportOne(cast: Cast): Script {
  yield* listInvoices(cast)
  yield step('export_statement', { customer: cast.random.pick(CUSTOMERS), month: '2026-03' })
}

function* checkRates({ random }: Cast): Script {
  const count = random.integer(1, 3)
  for (let index = 0; index < count; index += 1) {
    const [base, quote] = random.pick(CURRENCY_PAIRS)
    yield step('get_exchange_rate', { base, quote })
  }
}

/** One customer after the other in seconds, until the upstream has had enough. */
function* exportEverybody({ random }: Cast): Script {
  yield step('list_invoices', { status: 'open', limit: 100 })
  const count = random.integer(9, CUSTOMERS.length)
  for (const [index, customer] of CUSTOMERS.slice(0, count).entries()) {
    const args = { customer, month: '2026-03', format: 'csv' }
    const limited = index >= EXPORTS_BEFORE_LIMIT
    yield step('export_statement', args, {
      pauseMs: 900,
      ...(limited && {
        plant: 'rate_limited',
        intention: { kind: 'rate_limited', retryAfterS: RATE_LIMITED.retryAfterS },
        ...(index === EXPORTS_BEFORE_LIMIT && { first: true }),
      }),
    })
  }
}

/** The same failing call 3 to 8 times: an invoice that does not exist, or a bug in the tool. */
function* loop({ random, quotas }: Cast): Script {
  const repeats = random.integer(3, 8)
  const recovers = quotas.loopRecovers()
  const invoice_id = missingInvoice(random)
  const repeated: Step = recovers
    ? step('create_invoice', newInvoice(random), {
        plant: 'loop',
        intention: { kind: 'unexpected' },
        pauseMs: 6_000,
      })
    : step('get_invoice', { invoice_id }, notFound(invoice_id, { plant: 'loop', pauseMs: 6_000 }))
  for (let index = 0; index < repeats; index += 1) {
    yield index === 0 ? { ...repeated, first: true } : repeated
  }
  if (recovers) yield { tool: repeated.tool, args: repeated.args, pauseMs: 6_000 }
  else yield step('list_invoices', { customer: random.pick(CUSTOMERS) })
}

function* guessToolName(): Script {
  yield {
    tool: 'get_invoices',
    args: { status: 'open' },
    plant: 'unknown_tool',
    intention: { kind: 'unknown_tool', nearest: 'get_invoice' },
  }
}

function notFound(invoiceId: string, more: Partial<Step>): Partial<Step> {
  const message = `There is no invoice ${invoiceId}.`
  return { ...more, intention: { kind: 'tool_error', message } }
}

function knownInvoice(random: Random): string {
  return `INV-${random.integer(INVOICE_IDS.first, INVOICE_IDS.last)}`
}

function missingInvoice(random: Random): string {
  return `INV-${INVOICE_IDS.missing + random.integer(0, 99)}`
}

function newInvoice(random: Random): Record<string, unknown> {
  return {
    customer: random.pick(CUSTOMERS),
    amountCents: random.integer(4_000, 900_000),
    currency: random.pick(['EUR', 'EUR', 'USD', 'GBP']),
    due: `2026-05-${random.integer(10, 28)}`,
  }
}
