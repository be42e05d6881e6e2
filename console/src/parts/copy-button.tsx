import { useState } from 'preact/hooks'
import { Icon } from './icon.tsx'

const saidForMs = 2000

export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [said, setSaid] = useState<string>()
  const copy = async () => {
    // A page over plain HTTP from another machine has no clipboard API.
    const copied = await navigator.clipboard?.writeText(text).then(
      () => true,
      () => false,
    )
    setSaid(copied ? 'Copied' : 'Select the text and copy it')
    setTimeout(() => setSaid(undefined), saidForMs)
  }
  return (
    <button type="button" class="ghost" onClick={copy}>
      <Icon name={said === 'Copied' ? 'good' : 'copy'} />
      <span aria-live="polite">{said ?? label}</span>
    </button>
  )
}
