/** "no such file or directory" of "ENOENT: no such file or directory, open 'x'": callers name the file themselves. */
export function systemReason({ message }: Error): string {
  return /^[A-Z]\w+: ([^,]+)/.exec(message)?.[1] ?? message
}

/** The first line of an error of the YAML parser; an excerpt of the file follows it. */
export function yamlReason({ message }: Error): string {
  return (message.split('\n')[0] ?? '').replace(/:$/, '')
}
