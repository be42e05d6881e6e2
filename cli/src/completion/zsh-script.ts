import type { Flag, Position } from './positions.ts'

export function zshScript(positions: Position[]): string {
  const paths = positions.flatMap(({ path }) => (path === '' ? [] : [`"${path}"`]))
  const values = positions.flatMap(({ path, flags }) => flags.flatMap((flag) => valueCase(path, flag)))
  const words = positions.map(
    (position) => `    ("${position.path}") found=(${foundIn(position).join(' ')}) ;;`,
  )
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
  local flag="\${words[CURRENT - 1]}"
  # --flag=value is one word here.
  if [[ $words[CURRENT] == --*=* ]]; then flag="\${words[CURRENT]%%=*}"; compset -P '--*='; fi
  case "$at $flag" in
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
function foundIn({ commands, words, flags }: Position): string[] {
  return [
    ...commands.map(({ name, description }) => described(name, description)),
    ...words.map((word) => described(word, '')),
    ...flags.flatMap(({ names, description }) => names.map((name) => described(name, description))),
  ]
}

function described(name: string, description: string): string {
  const text = description === '' ? name : `${name}:${description}`
  return `'${text.replaceAll("'", "'\\''")}'`
}

function valueCase(path: string, { names, takesValue, choices, isFile }: Flag): string[] {
  if (!takesValue) return []
  const pattern = names.map((name) => `"${path} ${name}"`).join('|')
  if (isFile) return [`    (${pattern}) _files; return ;;`]
  return [`    (${pattern}) compadd -- ${choices.join(' ')}; return ;;`]
}
