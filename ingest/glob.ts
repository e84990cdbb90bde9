import { dirname, sep } from 'node:path'

/** Node 20 has no glob of its own: `*`, `?`, `[a-z]`, `{a,b}` within a name, `**` over directories. */
export function isGlob(text: string): boolean {
  return /[*?[{]/.test(text)
}

/** The directory before the first part with a wildcard. */
export function globBase(path: string): string {
  const parts = path.split(sep)
  const first = parts.findIndex(isGlob)
  return first < 0 ? dirname(path) : parts.slice(0, first).join(sep) || sep
}

export function globPattern(path: string): RegExp {
  let pattern = ''
  let braces = 0
  for (let index = 0; index < path.length; index += 1) {
    const rest = path.slice(index)
    const char = path.charAt(index)
    if (rest.startsWith('**/') || rest.startsWith(`**${sep}`)) {
      pattern += '(?:[^/\\\\]+[/\\\\])*'
      index += 2
    } else if (rest.startsWith('**')) {
      pattern += '.*'
      index += 1
    } else if (char === '*') pattern += '[^/\\\\]*'
    else if (char === '?') pattern += '[^/\\\\]'
    else if (char === '[' && rest.indexOf(']') > 1) {
      const end = rest.indexOf(']')
      const set = rest.slice(1, end).replace(/^!/, '^').replace(/\\/g, '\\\\')
      pattern += `[${set}]`
      index += end
    } else if (char === '{' && rest.includes('}')) {
      pattern += '(?:'
      braces += 1
    } else if (char === '}' && braces > 0) {
      pattern += ')'
      braces -= 1
    } else if (char === ',' && braces > 0) pattern += '|'
    else pattern += char.replace(/[.+^${}()|[\]\\]/g, '\\$&')
  }
  return new RegExp(`^${pattern}$`)
}
