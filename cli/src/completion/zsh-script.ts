import type { Flag, Spot } from './spots-of.ts'

export function zshScript(spots: Spot[]): string {
  const paths = spots.flatMap(({ path }) => (path === '' ? [] : [`"${path}"`]))
  const values = spots.flatMap(({ path, flags }) => flags.flatMap((flag) => valueCase(path, flag)))
  const words = spots.map((spot) => `    ("${spot.path}") found=(${foundIn(spot).join(' ')}) ;;`)
  return `#compdef jobcast
# zsh completion for jobcast
_jobcast() {
  local at="" i
  local -a found
  for ((i = 2; i < CURRENT; i++)); do
    case "$at \${words[i]}" in
    (${paths.join('|')}) at="$at \${words[i]}" ;;
    esac
  done
  case "$at \${words[CURRENT - 1]}" in
${values.join('\n')}
  esac
  case "$at" in
${words.join('\n')}
  esac
  _describe jobcast found
}
if [ "$funcstack[1]" = "_jobcast" ]; then
  _jobcast "$@"
else
  compdef _jobcast jobcast
fi
`
}

/** name:description, as _describe takes them. */
function foundIn({ commands, words, flags }: Spot): string[] {
  return [
    ...commands.map(({ name, does }) => described(name, does)),
    ...words.map((word) => described(word, '')),
    ...flags.flatMap(({ names, does }) => names.map((name) => described(name, does))),
  ]
}

function described(name: string, does: string): string {
  const text = does === '' ? name : `${name}:${does}`
  return `'${text.replaceAll("'", "'\\''")}'`
}

function valueCase(path: string, { names, takesValue, choices, isFile }: Flag): string[] {
  if (!takesValue) return []
  const pattern = names.map((name) => `"${path} ${name}"`).join('|')
  if (isFile) return [`    (${pattern}) _files; return ;;`]
  return [`    (${pattern}) compadd -- ${choices.join(' ')}; return ;;`]
}
