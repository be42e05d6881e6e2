/** "no such file or directory" of "ENOENT: no such file or directory, open 'x'": callers name the file themselves. */
export function systemReason({ message }: Error): string {
  return /^[A-Z]\w+: ([^,]+)/.exec(message)?.[1] ?? message
}
