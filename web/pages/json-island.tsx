import { raw } from 'hono/html'

/**
 * JSON for dashboard.js. Inside a script element nothing is decoded, so what could end the element
 * or a line of script is written as an escape that JSON itself understands.
 */
export function JsonIsland({ id, value }: { id: string; value: unknown }) {
  return (
    <script type="application/json" id={id}>
      {raw(escapeForScript(JSON.stringify(value)))}
    </script>
  )
}

const DANGEROUS = /[<>&\u2028\u2029]/g

export function escapeForScript(json: string): string {
  return json.replace(
    DANGEROUS,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
