import type { Flag, Position } from './positions.ts'

export function zshScript(positions: Position[]): string {
  const paths = positions.flatMap(({ path }) => (path === '' ? [] : [`"${path}"`]))
  const values = positions.flatMap(({ path, flags }) => flags.flatMap((flag) => valueCase(path, flag)))
  const words = positions.map(
    (position) => `    ("${position.path}") found=(${foundIn(position).join(' ')}) ;;`,
  )
  const named = positions.flatMap(({ path, names }) =>
    names ? [`    ("${path}") _jobcast_names ${names} && return ;;`] : [],
  )
  return `#compdef jobcast
# zsh completion for jobcast
# Fails if there are none.
_jobcast_names() {
  local -a names
  names=("\${(@f)$("\${words[1]}" complete-names "$1" "$PREFIX" -- "\${(@)words[2,CURRENT]}" </dev/null 2>/dev/null)}")
  names=("\${(@)names:#}")
  (( $#names )) && compadd -a names
}
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
  if [[ $words[CURRENT] != -* ]]; then
    case "$at" in
${named.join('\n')}
    esac
  fi
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

/** Lines of name:description, for _describe. */
function foundIn({ commands, words, flags }: Position): string[] {
  return [
    ...commands.map(({ name, description }) => described(name, description)),
    ...words.map((word) => described(word, '')),
    ...flags.flatMap(({ forms, description }) => forms.map((form) => described(form, description))),
  ]
}

function described(name: string, description: string): string {
  const text = description === '' ? name : `${name}:${description}`
  return `'${text.replaceAll("'", "'\\''")}'`
}

function valueCase(path: string, { forms, takesValue, choices, isFile, names }: Flag): string[] {
  if (!takesValue) return []
  const pattern = forms.map((form) => `"${path} ${form}"`).join('|')
  if (names) return [`    (${pattern}) _jobcast_names ${names}; return ;;`]
  if (isFile) return [`    (${pattern}) _files; return ;;`]
  return [`    (${pattern}) compadd -- ${choices.join(' ')}; return ;;`]
}
