import { type Fault, sleep } from '../fault.ts'

const throws = (id: string, what: string, cause: RegExp, thrown: () => unknown): Fault => ({
  id,
  what,
  group: 'throws',
  cause,
  tool: {
    run: async () => {
      throw thrown()
    },
  },
})

const deepCause = () =>
  new Error('lookup failed', {
    cause: new Error('query failed', {
      cause: Object.assign(new Error('connect ETIMEDOUT 10.0.0.9:5432'), { code: 'ETIMEDOUT' }),
    }),
  })

const hostile = () => {
  const refuse = () => {
    throw 1
  }
  return new Proxy({}, { get: refuse, getPrototypeOf: refuse, has: refuse, ownKeys: refuse })
}

const unreadable = () =>
  Object.defineProperty(new Error('x'), 'message', {
    get() {
      throw new Error('no message for you')
    },
  })

export const throwFaults: Fault[] = [
  throws('throw_error', 'an Error', /Missing API key/, () => new Error('Missing API key')),
  throws('throw_text', 'a string', /bad thing/, () => 'bad thing'),
  throws('throw_object', 'an object with a code', /E42|quota/, () => ({
    code: 'E42',
    message: 'quota',
  })),
  throws('throw_null', 'null', /null/, () => null),
  throws('throw_undefined', 'undefined', /undefined/, () => undefined),
  throws('throw_symbol', 'a symbol', /Symbol/, () => Symbol('s')),
  throws('throw_bare', 'an object without prototype', /no message|object/, () =>
    Object.create(null),
  ),
  throws('throw_silent', 'an Error without message', /no message/, () => new Error('')),
  throws('throw_unreadable', 'an Error whose message throws', /message/, unreadable),
  throws('throw_hostile', 'a Proxy that refuses everything', /unreadable/, hostile),
  throws('throw_message_object', 'an Error whose message is an object', /quota/, () =>
    Object.assign(new Error(), { message: { reason: 'quota' } }),
  ),
  throws('throw_causes', 'a cause hidden under two wrappers', /ETIMEDOUT/, deepCause),
  throws(
    'throw_aggregate',
    'an AggregateError without message',
    /ECONNREFUSED/,
    () => new AggregateError([Object.assign(new Error('no'), { code: 'ECONNREFUSED' })]),
  ),
  {
    id: 'throw_later',
    what: 'a rejection after a while',
    group: 'throws',
    cause: /ledger is locked/,
    tool: {
      run: async () => {
        await sleep(20)
        throw new Error('ledger is locked')
      },
    },
  },
  {
    id: 'stack_overflow',
    what: 'endless recursion',
    group: 'throws',
    cause: /call stack/i,
    tool: {
      run: () => {
        const again = (n: number): number => again(n + 1) + 1
        return again(0)
      },
    },
  },
]
