// jobcast mcp: the tools of the service for an assistant that starts programs. Standard input and output are connected with
// /mcp of the service, which has the tools and their rules.

import type { Command } from 'commander'
import { ownerCommand, withClient } from '../define/owner-command.ts'

export function mcpCommand(): Command {
  return ownerCommand('mcp')
    .description('Serve the tools of the service to an assistant (Model Context Protocol, over stdio).')
    .addHelpText(
      'after',
      '\nFor the configuration of an assistant: {"command":"jobcast","args":["mcp"]}. Use a key with the scopes it needs:' +
        '\nREAD to look; TRIGGER, too, to plan and start runs.\n',
    )
    .action(
      withClient(async ({ client, access, keyNow, reach, io }) => {
        // A wrong key or address is said at once, and not to the assistant's first question.
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
