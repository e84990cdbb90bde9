/** Fields of the filter form that have no parameter of their own. */
const FORM_ONLY = ['tod_from', 'tod_to'] as const

/**
 * What a form sends, in the filter's own parameters: two time fields become one window, ticked
 * weekdays one list, empty fields nothing. Leaves every other parameter as it is.
 */
export function readFormQuery(sent: URLSearchParams): URLSearchParams {
  const query = new URLSearchParams()
  for (const [name, value] of sent) {
    if (value !== '' && name !== 'dow' && !isFormOnly(name)) query.append(name, value)
  }
  const window = timeOfDay(sent)
  if (window !== undefined && !query.has('tod')) query.set('tod', window)
  const days = sent.getAll('dow').filter((value) => value !== '')
  if (days.length > 0) query.set('dow', days.join(','))
  return query
}

/** One side alone means from, or until, midnight. */
function timeOfDay(sent: URLSearchParams): string | undefined {
  const from = sent.get('tod_from') ?? ''
  const to = sent.get('tod_to') ?? ''
  if (from === '' && to === '') return undefined
  return `${from || '00:00'}-${to || '24:00'}`
}

function isFormOnly(name: string): boolean {
  return (FORM_ONLY as readonly string[]).includes(name)
}

/** True where the address bar should get the cleaned query in place of the one that was sent. */
export function isFromForm(sent: URLSearchParams): boolean {
  return [...sent].some(([name, value]) => value === '' || isFormOnly(name))
}
