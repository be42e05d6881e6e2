import type { Flag, Position } from './positions.ts'

/** Names contain no shell metacharacters; a test checks that. */
export function bashScript(positions: Position[]): string {
  const paths = positions.flatMap(({ path }) => (path === '' ? [] : [`"${path}"`]))
  const values = positions.flatMap(({ path, flags }) => flags.flatMap((flag) => valueCase(path, flag)))
  const words = positions.map(
    (position) => `    "${position.path}") words="${wordsOf(position).join(' ')}" ;;`,
  )
  const named = positions.flatMap(({ path, names }) =>
    names ? [`    "${path}") _jobcast_names ${names} ;;`] : [],
  )
  return `# bash completion for jobcast
# Names come from the service, so they are quoted and never expanded: compgen -W would run what is in them.
_jobcast_names() {
  local name quoted
  while IFS= read -r name; do
    printf -v quoted %q "$name"
    COMPREPLY+=("$quoted")
  done < <("\${_jobcast_by[@]}" "\${COMP_WORDS[0]}" complete-names "$1" "$cur" -- "\${COMP_WORDS[@]:1:COMP_CWORD}" </dev/null 2>/dev/null)
}
_jobcast() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD - 1]}" at="" words="" i
  COMPREPLY=()
  # bash splits --flag=value at the equals sign.
  if [[ $cur == = ]]; then cur=""; elif [[ $prev == = ]]; then prev="\${COMP_WORDS[COMP_CWORD - 2]}"; fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$at \${COMP_WORDS[i]}" in
    ${paths.join(' | ')}) at="$at \${COMP_WORDS[i]}" ;;
    esac
  done
  case "$at $prev" in
${values.join('\n')}
  esac
  if [[ $cur != -* ]]; then
    case "$at" in
${named.join('\n')}
    esac
    if ((\${#COMPREPLY[@]})); then return; fi
  fi
  case "$at" in
${words.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
# npx --no-install jobcast. Without --no-install it might fetch a package of that name, so nothing is completed.
_jobcast_npx() {
  local i=1 known=""
  while [[ \${COMP_WORDS[i]} == -* ]]; do
    if [[ \${COMP_WORDS[i]} == --no-install ]]; then known=1; fi
    ((i++))
  done
  if [[ ! $known || \${COMP_WORDS[i]} != jobcast ]] || ((i >= COMP_CWORD)); then COMPREPLY=(); return; fi
  local _jobcast_by=(npx --no-install)
  COMP_WORDS=("\${COMP_WORDS[@]:i}")
  ((COMP_CWORD -= i))
  _jobcast
}
complete -F _jobcast jobcast
complete -p npx >/dev/null 2>&1 || complete -o bashdefault -o default -F _jobcast_npx npx
`
}

function wordsOf({ commands, words, flags }: Position): string[] {
  return [...commands.map(({ name }) => name), ...words, ...flags.flatMap(({ forms }) => forms)]
}

/** Completes the value of a flag. */
function valueCase(path: string, { forms, takesValue, choices, isFile, names }: Flag): string[] {
  if (!takesValue) return []
  const pattern = forms.map((form) => `"${path} ${form}"`).join(' | ')
  if (names) return [`    ${pattern}) _jobcast_names ${names}; return ;;`]
  if (isFile)
    return [
      `    ${pattern}) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$cur")); return ;;`,
    ]
  return [`    ${pattern}) COMPREPLY=($(compgen -W "${choices.join(' ')}" -- "$cur")); return ;;`]
}
