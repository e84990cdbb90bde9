import { installPackages } from '../install-packages.ts'
import { EXAMPLES } from './servers.ts'

if ((await installPackages(EXAMPLES)) === undefined) process.exitCode = 1
