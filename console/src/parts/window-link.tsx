/** The window of a device or a group. */
export function WindowLink({ name }: { name: string | null }) {
  if (name === null) return <span class="quiet">none</span>
  return <a href={`/windows/${encodeURIComponent(name)}`}>{name}</a>
}
