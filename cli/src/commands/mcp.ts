// jobcast mcp: the tools of the service for an assistant that starts programs. Connects standard input and output with /mcp
// of the service, which implements the tools.

import type { Command } from 'commander'
import { ownerCommand, withClient } from '../define/owner-command.ts'

export function mcpCommand(): Command {
  return ownerCommand('mcp')
    .description('Serve the tools of the service to an assistant (Model Context Protocol, over stdio).')
    .addHelpText(
      'after',
      '\nFor the configuration of an assistant: {"command":"jobcast","args":["mcp"]}. Use a key with the scopes it needs:' +
        '\nREAD to list and explain; TRIGGER as well to plan and start runs.\n',
    )
    .action(
      withClient(async ({ client, access, keyNow, reach, io }) => {
        // Report a wrong key or address at once, not in the answer to the assistant's first request.
        await client.keys.self()
        const { connectStdio } = await import('../service/connect-stdio.ts')
        await connectStdio({
          url: new URL('/mcp', access.url),
          keyNow,
          fetch: reach.fetch,
          stdin: io.stdin,
          stdout: io.stdout,
        })
      }),
    )
}
