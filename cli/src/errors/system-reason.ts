/** "no such file or directory" of "ENOENT: no such file or directory, open 'x'": the file is named before it. */
export function systemReason({ message }: Error): string {
  return /^[A-Z]\w+: ([^,]+)/.exec(message)?.[1] ?? message
}
