import type { Flag, Position } from './positions.ts'

/** Names contain no shell metacharacters; a test checks that. */
export function bashScript(positions: Position[]): string {
  const paths = positions.flatMap(({ path }) => (path === '' ? [] : [`"${path}"`]))
  const values = positions.flatMap(({ path, flags }) => flags.flatMap((flag) => valueCase(path, flag)))
  const words = positions.map(
    (position) => `    "${position.path}") words="${wordsOf(position).join(' ')}" ;;`,
  )
  return `# bash completion for jobcast
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
  case "$at" in
${words.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -F _jobcast jobcast
`
}

function wordsOf({ commands, words, flags }: Position): string[] {
  return [...commands.map(({ name }) => name), ...words, ...flags.flatMap(({ names }) => names)]
}

/** Completes the value of a flag. */
function valueCase(path: string, { names, takesValue, choices, isFile }: Flag): string[] {
  if (!takesValue) return []
  const pattern = names.map((name) => `"${path} ${name}"`).join(' | ')
  if (isFile)
    return [
      `    ${pattern}) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$cur")); return ;;`,
    ]
  return [`    ${pattern}) COMPREPLY=($(compgen -W "${choices.join(' ')}" -- "$cur")); return ;;`]
}
