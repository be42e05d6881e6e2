import './shortcuts.css'
import { Dialog } from './dialog.tsx'

export type ShortcutsProps = {
  /** Screens that the key may open. */
  reachable: readonly { key: string; title: string }[]
  onClose: () => void
}

export default function Shortcuts({ reachable, onClose }: ShortcutsProps) {
  return (
    <Dialog title="Shortcuts" onClose={onClose}>
      <dl class="shortcuts">
        {reachable.map(({ key, title }) => (
          <Shortcut key={key} keys={['g', key]} does={title} />
        ))}
        <Shortcut keys={['Ctrl', 'K']} does="Search everything" />
        <Shortcut keys={['/']} does="Search this screen" />
        <Shortcut keys={['↑', '↓']} does="Move between rows" />
        <Shortcut keys={['Enter']} does="Open the row" />
        <Shortcut keys={['?']} does="Show this help" />
      </dl>
    </Dialog>
  )
}

function Shortcut({ keys, does }: { keys: string[]; does: string }) {
  return (
    <div>
      <dt>
        {keys.map((key) => (
          <kbd key={key}>{key}</kbd>
        ))}
      </dt>
      <dd>{does}</dd>
    </div>
  )
}
