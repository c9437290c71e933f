import torch
updates = torch.tensor([2.0, 2.0], dtype=torch.float64)
indices = torch.tensor([2], dtype=torch.int64)
cotangent = torch.tensor([-1.0], dtype=torch.float64)
print('expected:', '[2.0] float64; gradient of data [-0.5, -0.5] float64', flush=True)
def call(updates, indices):
    return torch.segment_reduce(data=updates, lengths=indices, reduce='max')
leaves = [array.requires_grad_() for array in (updates,)]
output = call(updates, indices)
gradients = torch.autograd.grad(output, leaves, cotangent, allow_unused=True)
print("seen:    ", output)
print("gradients of updates:", *gradients)
