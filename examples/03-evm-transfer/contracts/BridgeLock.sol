// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Multicall} from "@openzeppelin/contracts/utils/Multicall.sol";

/// One side of a bridge: locks tokens and says so, and hands them out again for a message of the
/// other side. For examples and tests, not for real money.
contract BridgeLock is Multicall {
    using SafeERC20 for IERC20;

    struct Message {
        address token;
        uint256 amount;
        string toChain;
        bytes32 to;
    }

    error ZeroAmount(address token);
    error NotRelayer(address sender);
    error AlreadyProcessed(bytes32 messageId);
    error DeadlinePassed(uint256 deadline, uint256 time);

    event Locked(bytes32 indexed messageId, address indexed sender, Message message);

    event Unlocked(bytes32 indexed messageId, address indexed to, address token, uint256 amount);

    /// Who carries messages over: the deployer.
    address public immutable relayer = msg.sender;
    uint256 public sequence;
    /// Messages that were sent from here, and messages of the other side that have arrived.
    mapping(bytes32 messageId => bool) public sent;
    mapping(bytes32 messageId => bool) public processed;
    mapping(address token => uint256) public locked;
    uint256[] private notes;

    function send(address token, uint256 amount, string calldata toChain, bytes32 to)
        external
        returns (bytes32 messageId)
    {
        if (amount == 0) revert ZeroAmount(token);
        require(bytes(toChain).length > 0, "no destination");
        messageId = keccak256(abi.encode(block.chainid, address(this), sequence, token, msg.sender, amount, to));
        sequence += 1;
        sent[messageId] = true;
        locked[token] += amount;
        emit Locked(messageId, msg.sender, Message(token, amount, toChain, to));
        IERC20(token).safeTransferFrom(msg.sender, address(this), amount);
    }

    function unlock(bytes32 messageId, address token, uint256 amount, address to) external {
        if (msg.sender != relayer) revert NotRelayer(msg.sender);
        if (processed[messageId]) revert AlreadyProcessed(messageId);
        processed[messageId] = true;
        locked[token] -= amount;
        emit Unlocked(messageId, to, token, amount);
        IERC20(token).safeTransfer(to, amount);
    }

    function multicall(uint256 deadline, bytes[] calldata data) external returns (bytes[] memory results) {
        if (block.timestamp > deadline) revert DeadlinePassed(deadline, block.timestamp);
        results = new bytes[](data.length);
        for (uint256 i = 0; i < data.length; i++) {
            (bool success, bytes memory result) = address(this).delegatecall(data[i]);
            if (!success) {
                assembly {
                    revert(add(result, 32), mload(result))
                }
            }
            results[i] = result;
        }
    }

    /// Counts up; anybody may, and every transaction that takes effect is seen in it.
    function note(uint256 value) external {
        notes.push(value);
    }

    function noteCount() external view returns (uint256 count) {
        return notes.length;
    }

    function noteAt(uint256 index) external view returns (uint256 value) {
        return notes[index];
    }

    function summary(address token) external view returns (Message memory last, int8 sign, uint256[2] memory pair) {
        last = Message(token, locked[token], "here", bytes32(sequence));
        return (last, -1, [sequence, locked[token]]);
    }
}
