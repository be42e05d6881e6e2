import type { Flag, Spot } from './spots-of.ts'

/** Names hold nothing that a shell could take for its own: a test looks. */
export function bashScript(spots: Spot[]): string {
  const paths = spots.flatMap(({ path }) => (path === '' ? [] : [`"${path}"`]))
  const values = spots.flatMap(({ path, flags }) => flags.flatMap((flag) => valueCase(path, flag)))
  const words = spots.map((spot) => `    "${spot.path}") words="${wordsOf(spot).join(' ')}" ;;`)
  return `# bash completion for jobcast
_jobcast() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD - 1]}" at="" words="" i
  COMPREPLY=()
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

function wordsOf({ commands, words, flags }: Spot): string[] {
  return [...commands.map(({ name }) => name), ...words, ...flags.flatMap(({ names }) => names)]
}

/** What stands behind a flag that takes a value. */
function valueCase(path: string, { names, takesValue, choices, isFile }: Flag): string[] {
  if (!takesValue) return []
  const pattern = names.map((name) => `"${path} ${name}"`).join(' | ')
  if (isFile)
    return [
      `    ${pattern}) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$cur")); return ;;`,
    ]
  return [`    ${pattern}) COMPREPLY=($(compgen -W "${choices.join(' ')}" -- "$cur")); return ;;`]
}
