/** The presence of a device: a full or hollow dot, and the word. */
export function Presence({ online }: { online: boolean }) {
  return <span class={`presence ${online ? 'online' : ''}`}>{online ? 'online' : 'offline'}</span>
}
