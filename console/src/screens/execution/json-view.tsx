import { CodeBlock } from '../../parts/code-block.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'

/** Shows JSON, with a copy button. */
export function JsonView({ value, label }: { value: unknown; label: string }) {
  const text = JSON.stringify(value, null, 2)
  return (
    <div class="json-view">
      <CodeBlock text={text} label={label} />
      <CopyButton text={text} />
    </div>
  )
}
