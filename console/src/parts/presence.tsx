/** Whether a device is there: a dot, full or hollow, and the word. */
export function Presence({ online }: { online: boolean }) {
  return <span class={`presence ${online ? 'online' : ''}`}>{online ? 'online' : 'offline'}</span>
}
