import { installPackages } from '../../install-packages.ts'

/** The peers and the SDK beside them; none is a dependency of this package. */
const PEERS = {
  folder: 'unsilent-bench-peers',
  packages: [
    '@sentry/node@11.12.0',
    'agentcat@1.0.1',
    'mcp-trace@0.1.9',
    '@modelcontextprotocol/sdk@1.32.2',
    'zod@4.6.7',
  ],
}

/** Installs them once into a folder of their own; undefined where that does not work. */
export function installPeers(): Promise<string | undefined> {
  return installPackages(PEERS)
}
