/** The first line of an error of the YAML parser; an excerpt of the file follows it. */
export function yamlReason({ message }: Error): string {
  return (message.split('\n')[0] ?? '').replace(/:$/, '')
}
